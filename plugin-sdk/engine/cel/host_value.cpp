#include "cel/host_value.hpp"

#include "backplane/types/cel_authorizer.hpp"
#include "cel/library_values.hpp"

namespace backplane::cel_detail {

Val host_val(Arena& arena, const cel::HostValue& host) {
  // A binding holds a HostValue. Plugins derive from two subclasses of HostValue, for which the engine has types. This cast and the next
  // one distinguish the two.
  if (const auto* authorizer = dynamic_cast<const cel::Authorizer*>(&host)) {
    AuthorizerVal out{};
    out.kind = OpaqueKind::kAuthorizer;
    out.authorizer = authorizer;
    return opaque_val(arena.keep(out));
  }
  // See the comment at the first cast.
  if (const auto* resource = dynamic_cast<const cel::RequestResource*>(&host)) {
    const cel::AccessQuestion question = resource->question();
    CheckVal out{};
    out.kind = OpaqueKind::kResourceCheck;
    out.authorizer.kind = OpaqueKind::kAuthorizer;
    out.authorizer.authorizer = &resource->authorizer();
    out.group = question.group;
    out.resource = question.resource;
    out.subresource = question.subresource;
    out.namespace_name = question.namespace_name;
    out.name = question.name;
    return opaque_val(arena.keep(out));
  }
  return error_val("a value of the host that no library knows");
}

}  // namespace backplane::cel_detail
