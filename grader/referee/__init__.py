"""The trusted side: draws inputs, knows the answers, holds the clock, writes the verdict. It imports no torch."""
