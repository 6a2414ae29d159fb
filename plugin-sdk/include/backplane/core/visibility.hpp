// Visibility of the SDK's names.
//
// The SDK and the plugins are compiled with hidden visibility. The SDK library exports what its public headers declare, and a cast to a
// role (RestStorage, Creater …) works across shared objects only if all of them share that library's type information. Therefore the
// namespaces of these declarations carry this attribute. Names in a namespace without it (backplane::stable, backplane::workload, inline
// helpers) stay local to their shared object.
#pragma once

#define BACKPLANE_API __attribute__((visibility("default")))
