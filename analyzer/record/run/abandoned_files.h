// What programs that were killed left reserved behind the last chunk of their trace files.
#pragma once

#include <string>

namespace plumb::record {

// Gives that room back to the file system: of every file of a shim in this directory that its writer has not ended, and
// that no process has open or mapped any more. The kernel says so by granting a write lease; it knows about processes of
// other PID namespaces, about threads that outlive the first one, and about children that share the writer's memory. Where
// it grants none (network file systems) nothing is done. Signal-free; errors are nobody's concern.
void free_abandoned_space(const std::string& directory);

} // namespace plumb::record
