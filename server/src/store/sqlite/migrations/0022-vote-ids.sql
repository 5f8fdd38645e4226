-- An import that replaced votes gave them IDs that were never assigned, and no archive with them could be restored.
update signal_subjects set vote_id = signal_id where vote_id <> signal_id;
