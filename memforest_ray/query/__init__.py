"""recall -> browse -> rank -> answer."""
