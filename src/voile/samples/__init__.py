"""Made-up data to try things on: messages, patients, trips. No record belongs to anybody."""
