// Compiled once for all unit tests: the framework is most of what each of them compiles.
#pragma once

#include <catch2/catch.hpp>
