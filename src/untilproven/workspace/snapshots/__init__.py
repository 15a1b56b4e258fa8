"""Every iteration can be brought back: what it changed is kept, and what was there before."""
