"""How fast FINN's engines can be clocked: logic levels by structure, delays by part, and what both leave open."""
