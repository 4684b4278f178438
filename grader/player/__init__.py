"""The untrusted side: imports one submission, answers the referee's requests, knows no answers."""
