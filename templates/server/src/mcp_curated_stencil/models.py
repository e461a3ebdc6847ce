"""The shapes that leave."""

from pydantic import BaseModel


class Converted(BaseModel):
    """A converted length."""

    value: float
    unit: str
