"""What is said of a top that hangs."""


def what_waits(token: tuple[int, int], data: tuple[int, int], given: int) -> str:
    """Which stream waits for what: of descriptors and data beats, how many were taken, and how many there are."""
    parts = []
    for name, (taken, beats) in (("s_axis_token", token), ("s_axis", data)):
        if taken < beats:
            parts.append(f"{name} waits for ready with {taken} of {beats} beats taken")
        else:
            parts.append(f"all {beats} beats of {name} were taken")
    return f"{'; '.join(parts)}; {given} beats came out"
