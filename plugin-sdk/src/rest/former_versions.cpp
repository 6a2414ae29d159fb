#include "backplane/rest/former_versions.hpp"

#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/json_reading.hpp"

namespace backplane BACKPLANE_API {
namespace {

GroupVersionKind kind_of(std::string_view api_version, std::string kind) {
  GroupVersion version = GroupVersion::parse(api_version);
  return {std::move(version.group), std::move(version.version), std::move(kind)};
}

Status convert_unchanged(Object&) { return {}; }

class Former {
 public:
  Former(Scheme& scheme, std::string_view registrant, const Object& document, std::shared_ptr<const SchemaSet> types,
         std::shared_ptr<const SchemaSet> own, const FormerConversions& conversions)
      : scheme_(scheme),
        registrant_(registrant),
        stored_(get_string(document, "stored")),
        like_(document.contains("like") ? get_string(document, "like") : stored_),
        types_(std::move(types)),
        own_(std::move(own)),
        conversions_(conversions) {}

  Status add(const std::string& kind, const std::string& version) {
    // Lists are not stored, but the body of a request may have the kind of a list.
    for (const std::string& name : {kind, kind + "List"}) {
      if (Status status = add_type(kind_of(version, name), kind_of(like_, name)); !status.ok()) return status;
    }
    const auto found = conversions_.find({kind, version});
    if (found != conversions_.end()) used_.insert(found->first);
    return scheme_.add_conversion(kind_of(version, kind), kind_of(stored_, kind),
                                  found != conversions_.end() ? found->second : convert_unchanged);
  }

  Status check_all_used() const {
    for (const auto& [key, conversion] : conversions_) {
      if (used_.contains(key)) continue;
      return internal_error("there is a conversion from " + key.second + ", Kind=" + key.first + ", which is not listed as former version");
    }
    return {};
  }

 private:
  Status add_type(const GroupVersionKind& old, const GroupVersionKind& like) {
    if (scheme_.recognizes(old)) return {};  // the version is still served for other kinds, so the Scheme has all its types
    const Schema* own = own_->find(old);
    const Schema* type = own != nullptr ? own : types_->find(like);
    return type != nullptr ? scheme_.add_known_type(old, type, own != nullptr ? own_ : types_, registrant_) : Status();
  }

  Scheme& scheme_;
  const std::string_view registrant_;
  const std::string_view stored_, like_;
  const std::shared_ptr<const SchemaSet> types_, own_;
  const FormerConversions& conversions_;
  std::set<std::pair<std::string, std::string>> used_;
};

}  // namespace

Status add_former_versions(Scheme& scheme, std::string_view registrant, std::string_view document, std::shared_ptr<const SchemaSet> types,
                           const FormerConversions& conversions) {
  const auto tree = read_json(document);
  const Object* kinds = tree && tree->is_object() ? get_object(tree->get_object(), "kinds") : nullptr;
  if (kinds == nullptr) return internal_error("the document of former versions lists no kinds");
  auto own = SchemaSet::embedded({&document, 1}, {core_schemas(), meta_schemas(), types});
  if (!own.ok()) return std::move(own).status();
  Former former(scheme, registrant, tree->get_object(), std::move(types), std::move(*own), conversions);
  for (const auto& [kind, versions] : *kinds) {
    for (const std::string& version : texts_of(*kinds, kind)) {
      if (Status status = former.add(std::string(kind), version); !status.ok()) return status;
    }
  }
  return former.check_all_used();
}

}  // namespace BACKPLANE_API
