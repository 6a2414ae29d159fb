// What a kind is and does beyond its schema: facts as data, and the behaviour the generic store asks for at each step of a write.
//
// Thread-safety: all methods are const and may be called from any thread at once.
// Lifetime:      shared with the storage made from it.
// Errors:        validation problems go into FieldErrors; anything thrown is a bug of the plugin and answered 500.
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

// A field label that selectors may name, and where its value stands ("spec.nodeName").  metadata.name and metadata.namespace always work.
struct SelectableField {
  std::string label;
  std::string path;
  std::string default_value;  // when the path is absent
};

// What a kind is, as data: the row from which the generic store works.  Most kinds need no more than this and their schema.
struct KindFacts {
  bool namespaced = true;
  NameRule name_rule = NameRule::kDnsSubdomain;
  bool create_on_update = false;
  bool unconditional_update = true;
  // Spec changes raise metadata.generation (kinds that have one start at 1).
  bool generation = false;
  // Status is a subresource: dropped from creates and main-resource updates.
  bool status = false;
  bool status_on_create = false;  // but an object may be created with one
  Value initial_status = {};      // what a new object's status is, whatever was sent; null: nothing is said
  // Deletes that name no propagation policy orphan the dependents (legacy: replication controllers).
  bool orphans_dependents = false;
  // Delete answers with the object, not with a Status.
  bool returns_deleted = false;
  // Whole collections can be deleted at once.
  bool deletes_collections = true;
  // The part of the object that the schema's rules are asked of.
  ObjectPart checked = ObjectPart::kWithoutStatus;
  // How much of what is asked for all kinds upstream's update rules of the kind ask once more, and blame twice: changes of metadata
  // (nearly all kinds), metadata as a whole, the rules of the schema.
  bool rechecks_metadata_change = true;
  bool rechecks_metadata = false;
  bool rechecks_rules = false;
  // Finalizers without a domain need not be ones that Kubernetes itself knows: what upstream's own groups ask, beyond what all kinds are
  // asked.
  bool any_finalizer_names = false;
  // False, of a subresource: upstream's storage of it has no printer, and a request that accepts a Table alone gets 406.
  bool has_tables = true;
  // False: the garbage collector does not know the kind, so that no delete adds the finalizers orphan and foregroundDeletion.
  bool has_dependents = true;
  // Upstream's rules of the kind do not ask of metadata what all kinds are asked: of a new object that is said only when nothing else is
  // wrong.
  bool metadata_last = false;
  std::vector<SelectableField> selectable = {};
  std::vector<WarningRow> warnings = {};
  std::vector<TableColumn> columns = {};  // none: Name and Created At
  PrintConditions row_conditions = nullptr;
  std::shared_ptr<const TableConvertor> table = {};  // a printer that is there already, in place of columns
};

class Strategy {
 public:
  Strategy() : Strategy(KindFacts{}) {}
  explicit Strategy(KindFacts facts);
  virtual ~Strategy();
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  const KindFacts& facts() const noexcept { return facts_; }
  const TableConvertor& table_convertor() const noexcept { return *facts_.table; }

  // ---- defaults that a schema cannot say.  The host calls it on every object that a client sent or a patch made, after the schema's
  // declared defaults and before admission and the prepare steps; it must change nothing when it runs again.
  virtual void apply_defaults(Object& object) const;

  // ---- create
  virtual void prepare_for_create(RequestContext& context, Object& object) const;
  // Rules on the object as a whole; metadata has been validated by the store.
  virtual void validate(RequestContext& context, const Object& object, FieldErrors& errors) const;

  // ---- update.  `old` is the stored object; the store has already copied immutable metadata over.
  virtual void prepare_for_update(RequestContext& context, Object& object, const Object& old) const;
  virtual void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const;

  // ---- both
  // Texts for Warning headers; `old` is null on create.  Those of the facts, unless a kind says otherwise.
  virtual std::vector<std::string> warnings(const Object& object, const Object* old) const;
  // Last change before encoding.
  virtual void canonicalize(Object& object) const;

  // Which fields a write through this strategy reaches, for metadata.managedFields.  Nothing: all of them, without `status` if the facts
  // say that status is a subresource.
  virtual std::optional<WrittenFields> written_fields() const { return std::nullopt; }

  // ---- delete
  // Graceful deletion: returns true when the object stays until its grace period is over, with `options.grace_period_seconds` set to
  // what will be used.  The default is immediate deletion.
  virtual bool check_graceful_delete(RequestContext& context, const Object& object, DeleteOptions& options) const;
  // May refuse (403, 409 …) a delete that is otherwise in order.
  virtual Status validate_delete(RequestContext& context, const Object& object) const;
  // Finalizers beyond metadata.finalizers hold the object (namespaces: spec.finalizers).
  virtual bool held_by_other_finalizers(const Object& object) const;
  // Called when a delete must wait (finalizers or grace): change the object that stays (namespaces: status.phase Terminating).
  virtual void mark_deleting(Object& object) const;

 private:
  const KindFacts facts_;  // with a table, whatever it was made from
};

}  // namespace BACKPLANE_API
