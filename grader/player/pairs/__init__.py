"""A pair of files on the player's side: values as plain data, models, inputs, answers, pieces of tensors."""
