// Variables that hot paths read.
#pragma once

// -fvisibility=hidden does not reach declarations: without this their addresses are taken from a table first.
#define PLUMB_HIDDEN __attribute__((visibility("hidden")))
