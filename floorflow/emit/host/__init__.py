"""What runs on the board's processor: it loads chunks into regions and exchanges buffers; emitted as it stands."""
