"""What several tests share: builders, fakes, recorded data and how to record it anew."""
