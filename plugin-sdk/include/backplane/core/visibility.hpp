// Visibility of the SDK's names.
//
// The SDK and the plugins are compiled with hidden visibility.  What the public headers declare is exported by the SDK library, and a cast
// to a role (RestStorage, Creater …) must see the one type information that it holds.  So every namespace of the public headers carries
// this attribute; what stands in other namespaces is nobody's business.
#pragma once

#define BACKPLANE_API __attribute__((visibility("default")))
