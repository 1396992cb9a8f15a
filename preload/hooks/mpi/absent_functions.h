// Functions that this library exports and the process's MPI library does not have.
//
// Programs ask by weak symbols whether there is an MPI, or whether it has a newer function (mpi4py does for every
// function with large counts), and take our names for the answer. So such names are taken back: weak references of
// what was loaded at start become null again, and what is loaded later no longer finds the names.
#pragma once

namespace plumb::shim::mpi {

// Once, when everything that the program was linked with is in place. May call the dynamic loader.
void hide_absent_functions_at_start();

// Before and after a dlopen: if it brought the MPI library. Cheap when nothing was loaded since the last time.
void hide_absent_functions_if_due();
bool absent_functions_are_hidden(); // nothing will be due again

} // namespace plumb::shim::mpi
