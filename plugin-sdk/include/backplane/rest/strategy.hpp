// The behaviour of a kind beyond its schema: facts as data, and functions that the generic store calls at each step of a write.
//
// Thread-safety: all methods are const and may be called from any thread at the same time.
// Lifetime:      shared with the storage made from it.
// Errors:        validation errors are added to FieldErrors. An exception is a bug of the plugin, and the request gets 500.
// Source:        registry/rest CreateStrategy, UpdateStrategy, DeleteStrategy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/core/options.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/rest/table.hpp"
#include "backplane/rest/warnings.hpp"
#include "backplane/rest/written_fields.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// A label for field selectors, and the path of its value ("spec.nodeName"). The labels metadata.name and metadata.namespace always exist.
struct SelectableField {
  std::string label;
  std::string path;
  std::string default_value;  // the value if the path is absent
};

// The facts of a kind. Most kinds need only these and their schema.
struct KindFacts {
  bool namespaced = true;
  // Rules for metadata.name.
  NameRule name_rule = NameRule::kDnsSubdomain;
  // True: PUT creates an object that does not exist (rest.AllowCreateOnUpdate).
  bool create_on_update = false;
  // True: an update may omit resourceVersion (rest.AllowUnconditionalUpdate).
  bool unconditional_update = true;
  // True: metadata.generation is 1 on create and increases with every change of the spec.
  bool generation = false;
  // True: the kind has the subresource /status. A create, or an update of the main resource, does not change status.
  bool status = false;
  bool status_on_create = false;  // with `status`: a create keeps the status that the client sent
  Value initial_status = {};      // the status of every new object, instead of the status that the client sent; null: not set
  // True: a delete without a propagation policy orphans the dependents (legacy behaviour of replication controllers).
  bool orphans_dependents = false;
  // True: a delete responds with the object instead of a Status (GracefulDeleter::returns_deleted).
  bool returns_deleted = false;
  // True: the collection supports DELETE.
  bool deletes_collections = true;
  // The part of the object to which the schema's rules apply.
  ObjectPart checked = ObjectPart::kWithoutStatus;
  // Whether upstream's update validation of the kind runs a check twice, so that its errors are reported twice. rechecks_metadata_change:
  // immutable metadata (nearly all kinds). rechecks_metadata: all of metadata. rechecks_rules: the rules of the schema.
  bool rechecks_metadata_change = true;
  bool rechecks_metadata = false;
  bool rechecks_rules = false;
  // False: a finalizer without a domain must be one that Kubernetes defines, as the validation of upstream's own groups requires.
  bool any_finalizer_names = false;
  // False (for a subresource): a request that accepts only a Table gets 406, because upstream's storage has no table convertor.
  bool has_tables = true;
  // False: the garbage collector does not track the kind, so a delete never adds the finalizers orphan and foregroundDeletion.
  bool has_dependents = true;
  // True: upstream's validation of the kind does not include metadata. The metadata of a new object is then validated only if the object
  // has no other errors.
  bool metadata_last = false;
  std::vector<SelectableField> selectable = {};
  std::vector<WarningRow> warnings = {};
  std::vector<TableColumn> columns = {};  // empty: the columns Name and Created At
  // Computes the TableRowConditions of a row; null: no conditions.
  PrintConditions row_conditions = nullptr;
  std::shared_ptr<const TableConvertor> table = {};  // replaces `columns` if it is set
};

// Derive from it to add behaviour. The default of every function does nothing, unless its comment says otherwise.
//
//   class RunnerStrategy final : public Strategy {
//    public:
//     using Strategy::Strategy;
//     void prepare_for_create(RequestContext&, Object& object) const override { erase_member(object, "status"); }
//     void validate(RequestContext&, const Object& object, FieldErrors& errors) const override {
//       const std::int64_t slots = get_int_path(object, "spec.slots").value_or(0);
//       if (slots > 64) errors.invalid("spec.slots", slots, "must be at most 64");
//     }
//   };
class Strategy {
 public:
  Strategy() : Strategy(KindFacts{}) {}
  explicit Strategy(KindFacts facts);
  virtual ~Strategy();
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  const KindFacts& facts() const noexcept { return facts_; }
  const TableConvertor& table_convertor() const noexcept { return *facts_.table; }

  // Sets defaults that the schema cannot express. Called for every object from a client or a patch: after the schema's defaults, and before
  // admission and preparation. Must be idempotent.
  virtual void apply_defaults(Object& object) const;

  // ---- create
  // Changes the object before validation: resets fields that clients may not set.
  virtual void prepare_for_create(RequestContext& context, Object& object) const;
  // Validates the object except metadata, which the store has validated. Precondition: the object satisfies the schema.
  virtual void validate(RequestContext& context, const Object& object, FieldErrors& errors) const;

  // ---- update. `old` is the stored object; the store has already copied immutable metadata from it.
  virtual void prepare_for_update(RequestContext& context, Object& object, const Object& old) const;
  virtual void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const;

  // ---- create and update
  // Returns texts for Warning headers; `old` is null on create. The default evaluates KindFacts::warnings.
  virtual std::vector<std::string> warnings(const Object& object, const Object* old) const;
  // Makes the last change before the object is encoded.
  virtual void canonicalize(Object& object) const;

  // The fields that a write with this strategy can change, for metadata.managedFields. nullopt: all fields, except `status` if
  // KindFacts::status is true.
  virtual std::optional<WrittenFields> written_fields() const { return std::nullopt; }

  // ---- delete
  // Decides about graceful deletion. True: the object stays until its grace period ends, and the function has set
  // options.grace_period_seconds to the period. False (the default): the object is removed immediately.
  virtual bool check_graceful_delete(RequestContext& context, const Object& object, DeleteOptions& options) const;
  // Returns an error to refuse a delete that is otherwise valid (403, 409 …).
  virtual Status validate_delete(RequestContext& context, const Object& object) const;
  // True if finalizers outside metadata.finalizers prevent the removal (namespaces: spec.finalizers).
  virtual bool held_by_other_finalizers(const Object& object) const;
  // Changes the object if its removal must wait for finalizers or a grace period (namespaces: status.phase Terminating).
  virtual void mark_deleting(Object& object) const;

 private:
  const KindFacts facts_;  // `table` is always set: to `table`, or to a convertor of `columns` or the default one
};

}  // namespace BACKPLANE_API
