"""Files about a team: what is known of its server, and the lines pulled from there."""
