// What stands in for a lock where the file system knows none (Lustre mounted noflock, some NFS): a file that one process
// creates and removes again. It names its maker, so that what a killed one left behind holds nobody up.
#pragma once

#include <string>

namespace plumb::record {

// "MACHINE NAMESPACE PID START", each a number: this process, where and when it was started.
std::string process_identity();

// Whether the process that `identity` names has ended. Only of this machine, since this start of it, and of this PID
// namespace can that be known: false for any other, and for a text that is no identity.
bool has_surely_ended(const std::string& identity, const std::string& proc_root = "/proc");

// Creates `name` in the directory: 0, or an errno; EWOULDBLOCK: somebody else holds it. Takes it over from one who ended.
int take_held_file(int directory, const char* name);
void release_held_file(int directory, const char* name);

} // namespace plumb::record
