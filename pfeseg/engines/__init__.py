"""Where many calls run: processes of this machine, or an existing cluster."""
