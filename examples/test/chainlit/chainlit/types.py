from dataclasses import dataclass
from typing import Optional


@dataclass
class Feedback:
    forId: str
    value: int
    threadId: Optional[str] = None
    id: Optional[str] = None
    comment: Optional[str] = None
