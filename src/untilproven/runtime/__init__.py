"""Makes it happen: the driver that feeds the core and obeys it, control, signals, hooks."""
