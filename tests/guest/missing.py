"""What a guest needs and this machine has not."""


class Missing(Exception):
    """Its text says what is missing and why: the reason of a skipped test."""
