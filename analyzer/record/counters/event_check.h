// Whether a count is right, and what is wrong with it. Pure.
#pragma once

#include "record/counters/counter_group.h"
#include "record/counters/known_work.h"

#include <string>

namespace plumb::record {

// A counter that ran for less of its time than this shares its place with others: such a count is not used, nor scaled up.
inline constexpr double kLeastRunning = 0.95;

// Of the time in which the event was to be counted; 1 where that is not known.
double running_share(const CounterValue& value);

// What is wrong with what an event counted of work that makes `known` of it; empty: nothing. `of_first_thread`: what the first of
// the work's two threads makes, which are on two CPUs: a count that is right for it alone has missed the other.
std::string fault_of(const CounterValue& counted, const KnownCount& known, const KnownCount& of_first_thread);

} // namespace plumb::record
