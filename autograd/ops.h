#pragma once
// Every plain differentiable op.

#include "autograd/elementwise.h"
#include "autograd/indexing.h"
#include "autograd/matmul.h"
#include "autograd/reduce.h"
#include "autograd/shape_ops.h"
#include "autograd/softmax.h"
