// Visibility of the SDK's names.
//
// A plugin is compiled with hidden visibility, yet a cast to a role (RestStorage, Creater …) must see the one type information that the
// SDK library holds.  So every namespace of the public headers carries this attribute.
#pragma once

#define BACKPLANE_API __attribute__((visibility("default")))
