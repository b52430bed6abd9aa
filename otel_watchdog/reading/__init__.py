"""What dialects share to read a span: content and its wrappings, messages, histories, outcomes."""
