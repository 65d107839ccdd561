"""What an analyst loses by a release: errors of the noise, loss by classes.

Belongs here: measures of utility as pure functions over arrays. Does not belong here: the losses that steer a
search (`recode`), what an attacker learns (`risk`).
"""
