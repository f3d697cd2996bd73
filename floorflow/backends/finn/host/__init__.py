"""What runs on the machine that holds the cards: it loads FINN's designs and runs batches; emitted as it stands."""
