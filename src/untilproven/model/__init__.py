"""What things are: typed records, tables, events, commands, settings. No IO and no decisions."""
