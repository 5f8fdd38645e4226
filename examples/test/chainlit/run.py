"""Votes as a user of a Chainlit application does, and prints the ID of the vote that is left."""

import asyncio
import runpy
import sys

import chainlit
from chainlit.types import Feedback


async def vote():
    [get_data_layer] = chainlit.data_layers
    layer = get_data_layer()
    kept = await layer.upsert_feedback(Feedback(forId="message-1", value=1, threadId="thread-1"))
    await layer.upsert_feedback(Feedback(id=kept, forId="message-1", value=0, threadId="thread-1", comment="Too long"))
    other = await layer.upsert_feedback(Feedback(forId="message-2", value=1, threadId="thread-1"))
    assert await layer.delete_feedback(other)
    assert list(layer.feedbacks) == [kept]
    print(kept)


runpy.run_path(sys.argv[1])
asyncio.run(vote())
