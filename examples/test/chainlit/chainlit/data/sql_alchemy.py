import uuid


class SQLAlchemyDataLayer:
    def __init__(self, conninfo):
        self.feedbacks = {}

    async def upsert_feedback(self, feedback):
        feedback.id = feedback.id or str(uuid.uuid4())
        self.feedbacks[feedback.id] = feedback
        return feedback.id

    async def delete_feedback(self, feedback_id):
        del self.feedbacks[feedback_id]
        return True
