// The C++ wrapper of the stable tier: all headers that a plugin needs. This header only includes other headers, which contain the
// contracts.
//
//   Plugin, Host, BACKPLANE_STABLE_PLUGIN          base.hpp
//   Json                                           json.hpp
//   install_group, Kind                            groups.hpp
//   add_admission, Admission, Match                admission.hpp
//   add_authenticator, add_authorizer              security.hpp
//   add_audit_sink, AuditSink                      audit.hpp
//   add_path                                       http.hpp
//   add_post_start, add_pre_shutdown, add_check    lifecycle.hpp
//   Client                                         client.hpp
//   Informer, add_controller, Controller           controller.hpp
//   add_storage_backend, Store                     storage.hpp
#pragma once

#include "backplane/stable/admission.hpp"
#include "backplane/stable/audit.hpp"
#include "backplane/stable/base.hpp"
#include "backplane/stable/client.hpp"
#include "backplane/stable/controller.hpp"
#include "backplane/stable/groups.hpp"
#include "backplane/stable/http.hpp"
#include "backplane/stable/json.hpp"
#include "backplane/stable/lifecycle.hpp"
#include "backplane/stable/security.hpp"
#include "backplane/stable/storage.hpp"

namespace backplane::stable {

// Returns the bytes of a file that BP_EMBED has embedded: embedded(BP_EMBEDDED(name)).
inline std::string_view embedded(bp_str bytes) noexcept { return view(bytes); }

}  // namespace backplane::stable
