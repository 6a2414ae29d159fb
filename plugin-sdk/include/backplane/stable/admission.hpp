// Admission rules of the stable tier (admission.h).
//
// Thread-safety: admit and validate are called on the threads of requests, several at the same time, and must not wait. If `flags` contains
//                BP_BLOCKING, they are called on threads of the plugin and may wait (base.h).
// Lifetime:      add_admission() stores the rule in the Host until the plugin is destroyed.
// Errors:        an exception of admit or validate refuses the write. The response has the code and reason of an Error. If an Error has
//                neither, and for any other exception, the response is a 403 that has kube-apiserver's text before the message. An
//                exception of configure makes startup fail.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/stable/admission.h"
#include "backplane/stable/json.hpp"

namespace backplane::stable {

struct Match {
  std::string group = {}, version = "*", resource = {}, subresource = {};
};

// The write that admit and validate receive.
class Write {
 public:
  Write(const Host& host, const bp_write& write) : host_(host), write_(write) {}
  const bp_write& table() const noexcept { return write_; }
  void warn(std::string_view text) const { admission().warn(write_.request, str(text)); }
  void annotate(std::string_view key, std::string_view value) const {
    detail::checked([&](bp_error* error) { return admission().annotate(write_.request, str(key), str(value), error); });
  }

 private:
  const bp_admission_table& admission() const { return host_.find<bp_admission_table>(BP_ADMISSION_TABLE, 1); }
  const Host& host_;
  const bp_write& write_;
};

// An admission rule. For a delete, the argument `object` is the object that is deleted.
struct Admission {
  std::string name;
  std::uint32_t operations = BP_CREATE | BP_UPDATE;
  std::vector<Match> matches = {};
  std::uint32_t flags = 0;
  std::function<void(std::string_view config)> configure = {};
  std::function<void(const Write& write, Json& object)> admit = {};
  std::function<void(const Write& write, const Json& object)> validate = {};
};

namespace detail {

struct KeptAdmission {
  Host& host;
  Admission rule;
  std::vector<bp_match> matches = {};
};
inline Json object_of(const Host& host, const bp_write& write) {
  const std::string_view object = view(write.object.size != 0 ? write.object : write.old_object);
  return Json(host, object.empty() ? "null" : object);
}

inline bp_admission table_of(KeptAdmission* kept) {
  bp_admission table{};
  table.struct_size = sizeof(table);
  table.name = str(kept->rule.name);
  table.self = kept;
  table.flags = kept->rule.flags;
  table.operations = kept->rule.operations;
  table.matches = kept->matches.data();
  table.match_count = kept->matches.size();
  if (kept->rule.configure) {
    table.configure = [](void* self, bp_str config, bp_error* error) {
      return barrier(error, [&] { static_cast<KeptAdmission*>(self)->rule.configure(view(config)); });
    };
  }
  if (kept->rule.admit) {
    table.admit = [](void* self, const bp_write* write, bp_output* patch, bp_error* error) {
      return barrier(error, [&] {
        auto& own = *static_cast<KeptAdmission*>(self);
        Json object = object_of(own.host, *write);
        own.rule.admit(Write(own.host, *write), object);
        if (object.changed()) own.host.write(patch, object.text());
      });
    };
  }
  if (kept->rule.validate) {
    table.validate = [](void* self, const bp_write* write, bp_error* error) {
      return barrier(error, [&] {
        auto& own = *static_cast<KeptAdmission*>(self);
        own.rule.validate(Write(own.host, *write), object_of(own.host, *write));
      });
    };
  }
  return table;
}

}  // namespace detail

// Registers `rule`. Call it in provision().
inline void add_admission(Host& host, Admission rule) {
  auto* kept = host.keep(detail::KeptAdmission{host, std::move(rule)});
  for (const Match& each : kept->rule.matches) {
    kept->matches.push_back({str(each.group), str(each.version), str(each.resource), str(each.subresource)});
  }
  const bp_admission table = detail::table_of(kept);
  const auto& admission = host.find<bp_admission_table>(BP_ADMISSION_TABLE, 1);
  detail::checked([&](bp_error* error) { return admission.add(host.context(), &table, error); });
}

}  // namespace backplane::stable
