"""The problem: what the user asked for, checked, and ready to be trained."""
