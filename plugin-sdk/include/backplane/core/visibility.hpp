// Visibility of the SDK's names.
//
// The SDK and the plugins are compiled with hidden visibility. The SDK library exports the declarations of its public headers: their
// namespaces carry this attribute. A dynamic_cast to a role (RestStorage, Creater …) works across shared objects only if all of them use
// the type information of the SDK library. Names in a namespace without the attribute (backplane::stable, backplane::workload, inline
// helpers) are local to their shared object.
#pragma once

#define BACKPLANE_API __attribute__((visibility("default")))
