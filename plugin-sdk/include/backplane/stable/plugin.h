// All tables of the stable tier, for a plugin in C. A plugin in C++ includes plugin.hpp.
//
//   gcc -shared -fPIC -fvisibility=hidden -I PREFIX/include -I . -o shop.so shop.c
#ifndef BACKPLANE_STABLE_PLUGIN_H
#define BACKPLANE_STABLE_PLUGIN_H

#include "backplane/stable/admission.h"
#include "backplane/stable/audit.h"
#include "backplane/stable/base.h"
#include "backplane/stable/client.h"
#include "backplane/stable/controller.h"
#include "backplane/stable/groups.h"
#include "backplane/stable/http.h"
#include "backplane/stable/json.h"
#include "backplane/stable/lifecycle.h"
#include "backplane/stable/manifest.h"
#include "backplane/stable/security.h"
#include "backplane/stable/storage.h"

#endif
