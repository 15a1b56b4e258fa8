"""Was it honest? Two versions of a tree compared, test by test and function by function.

`change` is what came in, `facts` what is known of a file, `languages/` how that is read from its syntax, `comparison`
the two sides next to each other, `signals/` what differs, `patterns/*.toml` what that means, `judging` the findings.
"""
