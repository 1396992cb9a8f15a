// What the shim does when the program confines itself.
#pragma once

namespace plumb::shim {

// Around a call that may confine: before() gives up what would need system calls to be given up later; after() learns
// whether the confinement is in force.
void before_seccomp();
void after_seccomp(bool in_force);

} // namespace plumb::shim
