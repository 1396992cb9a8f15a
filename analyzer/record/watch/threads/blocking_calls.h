// What the numbers of system calls say of a thread that is blocked in one.
#pragma once

namespace plumb::record {

// Its first argument is a descriptor, and it can block for long.
bool names_descriptor(int number);

// Its third argument is the length of what is read or written.
bool has_length(int number);

// It sends something to what its first argument refers to.
bool writes(int number);

// What is waited for in it may come from another thread or process of the run.
bool may_be_brought(int number);

} // namespace plumb::record
