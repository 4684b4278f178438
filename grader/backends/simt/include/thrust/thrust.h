// What is there of Thrust: vectors, iterators, functors and algorithms, on the host or as one launch of one block.
#pragma once
#include "thrust_types.h"
#include "thrust_vectors.h"
#include "thrust_algorithms.h"
