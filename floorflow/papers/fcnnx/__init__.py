"""f-CNN^x (Venieris and Bouganis, 2018): the scheduling methods that plans do not use."""
