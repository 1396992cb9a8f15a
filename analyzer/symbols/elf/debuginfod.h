// Debug files from the servers that $DEBUGINFOD_URLS names. The client library is loaded when it is first needed: it
// brings a whole HTTP stack that most reports never use.
#pragma once

#include <cstddef>
#include <string>

namespace plumb::symbols {

// True if this build can ask at all and the user's environment names servers.
bool debuginfod_configured();

// Value of $DEBUGINFOD_URLS, and of how many build ids its servers were asked so far.
std::string debuginfod_servers();
size_t debuginfod_requests();

// Path of the local copy; empty: no server has it, or none could be reached (then the others are not asked again).
std::string fetch_debug_file(const std::string& build_id);

} // namespace plumb::symbols
