"""The trusted side: draws inputs, knows the answers, holds the clock, judges. It imports no torch."""
