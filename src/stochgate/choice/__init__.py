"""The automatic choice: network, penalty, features and steps."""
