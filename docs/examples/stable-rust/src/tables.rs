// The tables of the stable tier. Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#![allow(non_camel_case_types, dead_code)]
use std::os::raw::{c_char, c_void};

pub const BP_LOG_ERROR: i32 = 0;
pub const BP_LOG_WARNING: i32 = 1;
pub const BP_LOG_INFO: i32 = 2;
pub const BP_LOG_DEBUG: i32 = 3;
pub const BP_BLOCKING: u32 = 1;
pub enum bp_context {}
pub enum bp_output {}
pub enum bp_text {}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bp_str {
    pub data: *const c_char,
    pub size: usize,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bp_error {
    pub code: i32,
    pub reason: [c_char; 32],
    pub message: [c_char; 988],
}
#[repr(C)]
pub struct bp_host {
    pub struct_size: usize,
    pub context: *mut bp_context,
    pub table: Option<unsafe extern "C" fn(context: *mut bp_context, name: bp_str, version: u32) -> *const c_void>,
    pub log: Option<unsafe extern "C" fn(context: *mut bp_context, level: i32, text: bp_str)>,
    pub write: Option<unsafe extern "C" fn(output: *mut bp_output, bytes: bp_str)>,
    pub view: Option<unsafe extern "C" fn(text: *const bp_text) -> bp_str>,
    pub release: Option<unsafe extern "C" fn(text: *mut bp_text)>,
    pub flag: Option<unsafe extern "C" fn(context: *mut bp_context, name: bp_str) -> *mut bp_text>,
}
#[repr(C)]
pub struct bp_plugin {
    pub struct_size: usize,
    pub this: *mut c_void,
    pub configure: Option<unsafe extern "C" fn(this: *mut c_void, config: bp_str, error: *mut bp_error) -> i32>,
    pub provision: Option<unsafe extern "C" fn(this: *mut c_void, host: *const bp_host, error: *mut bp_error) -> i32>,
    pub validate: Option<unsafe extern "C" fn(this: *mut c_void, error: *mut bp_error) -> i32>,
    pub destroy: Option<unsafe extern "C" fn(this: *mut c_void)>,
}
pub enum bp_json {}
pub const BP_JSON_TABLE: &str = "backplane.json";
pub const BP_JSON_TABLE_VERSION: u32 = 1;
#[repr(C)]
pub struct bp_json_table {
    pub struct_size: usize,
    pub parse: Option<unsafe extern "C" fn(text: bp_str, error: *mut bp_error) -> *mut bp_json>,
    pub release: Option<unsafe extern "C" fn(json: *mut bp_json)>,
    pub get_string: Option<unsafe extern "C" fn(json: *const bp_json, path: bp_str) -> bp_str>,
    pub get_int: Option<unsafe extern "C" fn(json: *const bp_json, path: bp_str, otherwise: i64) -> i64>,
    pub get_bool: Option<unsafe extern "C" fn(json: *const bp_json, path: bp_str, otherwise: i32) -> i32>,
    pub count: Option<unsafe extern "C" fn(json: *const bp_json, path: bp_str) -> i64>,
    pub has: Option<unsafe extern "C" fn(json: *const bp_json, path: bp_str) -> i32>,
    pub get: Option<unsafe extern "C" fn(json: *const bp_json, path: bp_str) -> *mut bp_text>,
    pub set_string: Option<unsafe extern "C" fn(json: *mut bp_json, path: bp_str, value: bp_str, error: *mut bp_error) -> i32>,
    pub set_int: Option<unsafe extern "C" fn(json: *mut bp_json, path: bp_str, value: i64, error: *mut bp_error) -> i32>,
    pub set_json: Option<unsafe extern "C" fn(json: *mut bp_json, path: bp_str, value: bp_str, error: *mut bp_error) -> i32>,
    pub remove: Option<unsafe extern "C" fn(json: *mut bp_json, path: bp_str)>,
}
pub const BP_FIELD_REQUIRED: u32 = 1;
pub const BP_FIELD_INVALID: u32 = 2;
pub const BP_FIELD_FORBIDDEN: u32 = 3;
pub const BP_FIELD_DUPLICATE: u32 = 4;
pub const BP_FIELD_NOT_FOUND: u32 = 5;
pub const BP_FIELD_NOT_SUPPORTED: u32 = 6;
pub const BP_FIELD_TYPE_INVALID: u32 = 7;
pub const BP_FIELD_INTERNAL: u32 = 8;
pub enum bp_field_errors {}
#[repr(C)]
pub struct bp_kind {
    pub struct_size: usize,
    pub kind: bp_str,
    pub this: *mut c_void,
    pub set_defaults: Option<unsafe extern "C" fn(this: *mut c_void, object: bp_str, changed: *mut bp_output, error: *mut bp_error) -> i32>,
    pub check: Option<unsafe extern "C" fn(this: *mut c_void, object: bp_str, errors: *mut bp_field_errors, error: *mut bp_error) -> i32>,
    pub check_change: Option<unsafe extern "C" fn(this: *mut c_void, object: bp_str, old: bp_str, errors: *mut bp_field_errors, error: *mut bp_error) -> i32>,
    pub check_status: Option<unsafe extern "C" fn(this: *mut c_void, object: bp_str, old: bp_str, errors: *mut bp_field_errors, error: *mut bp_error) -> i32>,
    pub convert: Option<unsafe extern "C" fn(this: *mut c_void, from: bp_str, to: bp_str, object: bp_str, converted: *mut bp_output, error: *mut bp_error) -> i32>,
}
#[repr(C)]
pub struct bp_group {
    pub struct_size: usize,
    pub document: bp_str,
    pub schemas: *const bp_str,
    pub schema_count: usize,
    pub kinds: *const *const bp_kind,
    pub kind_count: usize,
}
pub const BP_GROUPS_TABLE: &str = "backplane.groups";
pub const BP_GROUPS_TABLE_VERSION: u32 = 1;
#[repr(C)]
pub struct bp_groups_table {
    pub struct_size: usize,
    pub install: Option<unsafe extern "C" fn(context: *mut bp_context, group: *const bp_group, error: *mut bp_error) -> i32>,
    pub field_error: Option<unsafe extern "C" fn(errors: *mut bp_field_errors, kind: u32, field: bp_str, value: bp_str, detail: bp_str)>,
}
pub const BP_NO_OPINION: i32 = 0;
pub const BP_ALLOW: i32 = 1;
pub const BP_DENY: i32 = 2;
#[repr(C)]
pub struct bp_user {
    pub struct_size: usize,
    pub name: bp_str,
    pub uid: bp_str,
    pub groups: *const bp_str,
    pub group_count: usize,
    pub extra: bp_str,
}
#[repr(C)]
pub struct bp_authenticator {
    pub struct_size: usize,
    pub name: bp_str,
    pub this: *mut c_void,
    pub flags: u32,
    pub authenticate: Option<unsafe extern "C" fn(this: *mut c_void, token: bp_str, audiences: *const bp_str, audience_count: usize, user: *mut bp_output, error: *mut bp_error) -> i32>,
}
#[repr(C)]
pub struct bp_access {
    pub struct_size: usize,
    pub user: *const bp_user,
    pub verb: bp_str,
    pub is_resource: i32,
    pub path: bp_str,
    pub group: bp_str,
    pub version: bp_str,
    pub ns: bp_str,
    pub resource: bp_str,
    pub subresource: bp_str,
    pub name: bp_str,
}
#[repr(C)]
pub struct bp_authorizer {
    pub struct_size: usize,
    pub name: bp_str,
    pub this: *mut c_void,
    pub flags: u32,
    pub decide: Option<unsafe extern "C" fn(this: *mut c_void, access: *const bp_access, reason: *mut bp_output, error: *mut bp_error) -> i32>,
}
pub const BP_SECURITY_TABLE: &str = "backplane.security";
pub const BP_SECURITY_TABLE_VERSION: u32 = 1;
#[repr(C)]
pub struct bp_security_table {
    pub struct_size: usize,
    pub add_authenticator: Option<unsafe extern "C" fn(context: *mut bp_context, authenticator: *const bp_authenticator, error: *mut bp_error) -> i32>,
    pub add_authorizer: Option<unsafe extern "C" fn(context: *mut bp_context, authorizer: *const bp_authorizer, error: *mut bp_error) -> i32>,
}
pub const BP_CREATE: u32 = 1;
pub const BP_UPDATE: u32 = 2;
pub const BP_DELETE: u32 = 4;
pub const BP_CONNECT: u32 = 8;
pub const BP_OFF_BY_DEFAULT: u32 = 2;
pub enum bp_request {}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bp_match {
    pub group: bp_str,
    pub version: bp_str,
    pub resource: bp_str,
    pub subresource: bp_str,
}
#[repr(C)]
pub struct bp_write {
    pub struct_size: usize,
    pub request: *mut bp_request,
    pub operation: u32,
    pub dry_run: i32,
    pub group: bp_str,
    pub version: bp_str,
    pub resource: bp_str,
    pub subresource: bp_str,
    pub kind: bp_str,
    pub ns: bp_str,
    pub name: bp_str,
    pub user: *const bp_user,
    pub object: bp_str,
    pub old_object: bp_str,
}
#[repr(C)]
pub struct bp_admission {
    pub struct_size: usize,
    pub name: bp_str,
    pub this: *mut c_void,
    pub flags: u32,
    pub operations: u32,
    pub matches: *const bp_match,
    pub match_count: usize,
    pub configure: Option<unsafe extern "C" fn(this: *mut c_void, config: bp_str, error: *mut bp_error) -> i32>,
    pub admit: Option<unsafe extern "C" fn(this: *mut c_void, write: *const bp_write, patch: *mut bp_output, error: *mut bp_error) -> i32>,
    pub validate: Option<unsafe extern "C" fn(this: *mut c_void, write: *const bp_write, error: *mut bp_error) -> i32>,
}
pub const BP_ADMISSION_TABLE: &str = "backplane.admission";
pub const BP_ADMISSION_TABLE_VERSION: u32 = 1;
#[repr(C)]
pub struct bp_admission_table {
    pub struct_size: usize,
    pub add: Option<unsafe extern "C" fn(context: *mut bp_context, rule: *const bp_admission, error: *mut bp_error) -> i32>,
    pub warn: Option<unsafe extern "C" fn(request: *mut bp_request, text: bp_str)>,
    pub annotate: Option<unsafe extern "C" fn(request: *mut bp_request, key: bp_str, value: bp_str, error: *mut bp_error) -> i32>,
}
pub enum bp_exchange {}
#[repr(C)]
pub struct bp_path {
    pub struct_size: usize,
    pub path: bp_str,
    pub prefix: i32,
    pub listed: i32,
    pub this: *mut c_void,
    pub max_body: usize,
    pub handle: Option<unsafe extern "C" fn(this: *mut c_void, exchange: *mut bp_exchange, error: *mut bp_error) -> i32>,
}
pub const BP_HTTP_TABLE: &str = "backplane.http";
pub const BP_HTTP_TABLE_VERSION: u32 = 1;
#[repr(C)]
pub struct bp_http_table {
    pub struct_size: usize,
    pub add: Option<unsafe extern "C" fn(context: *mut bp_context, path: *const bp_path, error: *mut bp_error) -> i32>,
    pub method: Option<unsafe extern "C" fn(exchange: *mut bp_exchange) -> bp_str>,
    pub target: Option<unsafe extern "C" fn(exchange: *mut bp_exchange) -> bp_str>,
    pub body: Option<unsafe extern "C" fn(exchange: *mut bp_exchange) -> bp_str>,
    pub header: Option<unsafe extern "C" fn(exchange: *mut bp_exchange, name: bp_str) -> bp_str>,
    pub user: Option<unsafe extern "C" fn(exchange: *mut bp_exchange) -> *const bp_user>,
    pub add_header: Option<unsafe extern "C" fn(exchange: *mut bp_exchange, name: bp_str, value: bp_str)>,
    pub respond: Option<unsafe extern "C" fn(exchange: *mut bp_exchange, code: i32, content_type: bp_str, body: bp_str)>,
}
pub const BP_HEALTHZ: u32 = 1;
pub const BP_LIVEZ: u32 = 2;
pub const BP_READYZ: u32 = 4;
#[repr(C)]
pub struct bp_hook {
    pub struct_size: usize,
    pub name: bp_str,
    pub this: *mut c_void,
    pub run: Option<unsafe extern "C" fn(this: *mut c_void, error: *mut bp_error) -> i32>,
}
#[repr(C)]
pub struct bp_check {
    pub struct_size: usize,
    pub name: bp_str,
    pub this: *mut c_void,
    pub endpoints: u32,
    pub run: Option<unsafe extern "C" fn(this: *mut c_void, error: *mut bp_error) -> i32>,
}
pub const BP_LIFECYCLE_TABLE: &str = "backplane.lifecycle";
pub const BP_LIFECYCLE_TABLE_VERSION: u32 = 1;
#[repr(C)]
pub struct bp_lifecycle_table {
    pub struct_size: usize,
    pub add_post_start: Option<unsafe extern "C" fn(context: *mut bp_context, hook: *const bp_hook, error: *mut bp_error) -> i32>,
    pub add_pre_shutdown: Option<unsafe extern "C" fn(context: *mut bp_context, hook: *const bp_hook, error: *mut bp_error) -> i32>,
    pub add_check: Option<unsafe extern "C" fn(context: *mut bp_context, check: *const bp_check, error: *mut bp_error) -> i32>,
    pub stopping: Option<unsafe extern "C" fn(context: *mut bp_context) -> i32>,
}
pub const BP_PATCH_JSON: i32 = 1;
pub const BP_PATCH_MERGE: i32 = 2;
pub const BP_PATCH_STRATEGIC: i32 = 3;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bp_resource {
    pub group: bp_str,
    pub version: bp_str,
    pub resource: bp_str,
}
pub const BP_CLIENT_TABLE: &str = "backplane.client";
pub const BP_CLIENT_TABLE_VERSION: u32 = 1;
#[repr(C)]
pub struct bp_client_table {
    pub struct_size: usize,
    pub get: Option<unsafe extern "C" fn(context: *mut bp_context, resource: *const bp_resource, ns: bp_str, name: bp_str, error: *mut bp_error) -> *mut bp_text>,
    pub list: Option<unsafe extern "C" fn(context: *mut bp_context, resource: *const bp_resource, ns: bp_str, labels: bp_str, fields: bp_str, error: *mut bp_error) -> *mut bp_text>,
    pub create: Option<unsafe extern "C" fn(context: *mut bp_context, resource: *const bp_resource, ns: bp_str, object: bp_str, error: *mut bp_error) -> *mut bp_text>,
    pub update: Option<unsafe extern "C" fn(context: *mut bp_context, resource: *const bp_resource, ns: bp_str, subresource: bp_str, object: bp_str, error: *mut bp_error) -> *mut bp_text>,
    pub patch: Option<unsafe extern "C" fn(context: *mut bp_context, resource: *const bp_resource, ns: bp_str, name: bp_str, subresource: bp_str, kind: i32, patch: bp_str, error: *mut bp_error) -> *mut bp_text>,
    pub remove: Option<unsafe extern "C" fn(context: *mut bp_context, resource: *const bp_resource, ns: bp_str, name: bp_str, options: bp_str, error: *mut bp_error) -> *mut bp_text>,
}
pub const BP_ADDED: u32 = 1;
pub const BP_MODIFIED: u32 = 2;
pub const BP_DELETED: u32 = 3;
pub enum bp_informer {}
pub enum bp_queue {}
#[repr(C)]
pub struct bp_watch {
    pub struct_size: usize,
    pub informer: *mut bp_informer,
    pub this: *mut c_void,
    pub event: Option<unsafe extern "C" fn(this: *mut c_void, kind: u32, object: bp_str, old: bp_str, queue: *mut bp_queue)>,
}
#[repr(C)]
pub struct bp_controller {
    pub struct_size: usize,
    pub name: bp_str,
    pub this: *mut c_void,
    pub workers: u32,
    pub watches: *const *const bp_watch,
    pub watch_count: usize,
    pub reconcile: Option<unsafe extern "C" fn(this: *mut c_void, key: bp_str, queue: *mut bp_queue, error: *mut bp_error) -> i32>,
}
pub const BP_CONTROLLERS_TABLE: &str = "backplane.controllers";
pub const BP_CONTROLLERS_TABLE_VERSION: u32 = 1;
#[repr(C)]
pub struct bp_controllers_table {
    pub struct_size: usize,
    pub informer: Option<unsafe extern "C" fn(context: *mut bp_context, resource: *const bp_resource, ns: bp_str, error: *mut bp_error) -> *mut bp_informer>,
    pub add: Option<unsafe extern "C" fn(context: *mut bp_context, controller: *const bp_controller, error: *mut bp_error) -> i32>,
    pub get: Option<unsafe extern "C" fn(informer: *mut bp_informer, key: bp_str) -> *mut bp_text>,
    pub each: Option<unsafe extern "C" fn(informer: *mut bp_informer, this: *mut c_void, visit: Option<unsafe extern "C" fn(this: *mut c_void, key: bp_str, object: bp_str) -> i32>) -> i32>,
    pub synced: Option<unsafe extern "C" fn(informer: *mut bp_informer) -> i32>,
    pub enqueue: Option<unsafe extern "C" fn(queue: *mut bp_queue, key: bp_str)>,
    pub enqueue_after: Option<unsafe extern "C" fn(queue: *mut bp_queue, key: bp_str, milliseconds: u64)>,
}
pub const BP_PUSHED: i32 = 0;
pub const BP_FULL: i32 = 1;
pub const BP_ENDED: i32 = 2;
pub enum bp_store_answer {}
pub enum bp_event_stream {}
#[repr(C)]
pub struct bp_store_settings {
    pub struct_size: usize,
    pub data_dir: bp_str,
    pub no_fsync: i32,
}
#[repr(C)]
pub struct bp_key_value {
    pub struct_size: usize,
    pub key: bp_str,
    pub value: bp_str,
    pub create_revision: i64,
    pub mod_revision: i64,
    pub lease: i64,
}
#[repr(C)]
pub struct bp_range {
    pub struct_size: usize,
    pub start: bp_str,
    pub end: bp_str,
    pub revision: i64,
    pub limit: i64,
    pub keys_only: i32,
    pub count_only: i32,
    pub skip_count: i32,
}
#[repr(C)]
pub struct bp_compare {
    pub struct_size: usize,
    pub key: bp_str,
    pub mod_revision: i64,
}
#[repr(C)]
pub struct bp_put {
    pub struct_size: usize,
    pub key: bp_str,
    pub value: bp_str,
    pub lease: i64,
}
#[repr(C)]
pub struct bp_txn {
    pub struct_size: usize,
    pub compares: *const *const bp_compare,
    pub compare_count: usize,
    pub puts: *const *const bp_put,
    pub put_count: usize,
    pub removes: *const bp_str,
    pub remove_count: usize,
}
#[repr(C)]
pub struct bp_store_event {
    pub struct_size: usize,
    pub item: *const bp_key_value,
    pub removed: i32,
    pub previous: bp_str,
    pub previous_revision: i64,
}
#[repr(C)]
pub struct bp_storage_backend {
    pub struct_size: usize,
    pub name: bp_str,
    pub this: *mut c_void,
    pub stored_form: bp_str,
    pub open: Option<unsafe extern "C" fn(this: *mut c_void, settings: *const bp_store_settings, error: *mut bp_error) -> *mut c_void>,
    pub close: Option<unsafe extern "C" fn(store: *mut c_void)>,
    pub current_revision: Option<unsafe extern "C" fn(store: *mut c_void, error: *mut bp_error) -> i64>,
    pub committed_revision: Option<unsafe extern "C" fn(store: *mut c_void) -> i64>,
    pub range: Option<unsafe extern "C" fn(store: *mut c_void, range: *const bp_range, answer: *mut bp_store_answer, error: *mut bp_error) -> i32>,
    pub txn: Option<unsafe extern "C" fn(store: *mut c_void, txn: *const bp_txn, answer: *mut bp_store_answer, error: *mut bp_error) -> i32>,
    pub watch: Option<unsafe extern "C" fn(store: *mut c_void, prefix: bp_str, after: i64, stream: *mut bp_event_stream, error: *mut bp_error) -> *mut c_void>,
    pub more: Option<unsafe extern "C" fn(store: *mut c_void, watch: *mut c_void)>,
    pub cancel: Option<unsafe extern "C" fn(store: *mut c_void, watch: *mut c_void)>,
    pub request_progress: Option<unsafe extern "C" fn(store: *mut c_void, error: *mut bp_error) -> i32>,
    pub compact: Option<unsafe extern "C" fn(store: *mut c_void, revision: i64, error: *mut bp_error) -> i32>,
    pub grant_lease: Option<unsafe extern "C" fn(store: *mut c_void, seconds: i64, error: *mut bp_error) -> i64>,
    pub health: Option<unsafe extern "C" fn(store: *mut c_void, milliseconds: u32, error: *mut bp_error) -> i32>,
    pub size: Option<unsafe extern "C" fn(store: *mut c_void) -> i64>,
    pub raise_revision: Option<unsafe extern "C" fn(store: *mut c_void, revision: i64, error: *mut bp_error) -> i32>,
}
pub const BP_STORAGE_TABLE: &str = "backplane.storage";
pub const BP_STORAGE_TABLE_VERSION: u32 = 1;
#[repr(C)]
pub struct bp_storage_table {
    pub struct_size: usize,
    pub add: Option<unsafe extern "C" fn(context: *mut bp_context, backend: *const bp_storage_backend, error: *mut bp_error) -> i32>,
    pub add_item: Option<unsafe extern "C" fn(answer: *mut bp_store_answer, item: *const bp_key_value)>,
    pub set_range: Option<unsafe extern "C" fn(answer: *mut bp_store_answer, revision: i64, count: i64, more: i32)>,
    pub set_txn: Option<unsafe extern "C" fn(answer: *mut bp_store_answer, committed: i32, revision: i64)>,
    pub add_event: Option<unsafe extern "C" fn(stream: *mut bp_event_stream, event: *const bp_store_event)>,
    pub push: Option<unsafe extern "C" fn(stream: *mut bp_event_stream, revision: i64) -> i32>,
    pub end: Option<unsafe extern "C" fn(stream: *mut bp_event_stream, error: *const bp_error)>,
}
pub const BP_AUDIT_METADATA: u32 = 1;
pub const BP_AUDIT_REQUEST: u32 = 2;
pub const BP_AUDIT_REQUEST_RESPONSE: u32 = 3;
pub const BP_AUDIT_REQUEST_RECEIVED: u32 = 1;
pub const BP_AUDIT_RESPONSE_STARTED: u32 = 2;
pub const BP_AUDIT_RESPONSE_COMPLETE: u32 = 4;
pub const BP_AUDIT_PANIC: u32 = 8;
pub const BP_AUDIT_DROP: u32 = 0;
pub const BP_AUDIT_WAIT: u32 = 1;
#[repr(C)]
pub struct bp_audit_sink {
    pub struct_size: usize,
    pub name: bp_str,
    pub this: *mut c_void,
    pub level: u32,
    pub omit_stages: u32,
    pub omit_managed_fields: i32,
    pub when_full: u32,
    pub most_events: u32,
    pub most_written: u32,
    pub write: Option<unsafe extern "C" fn(this: *mut c_void, events: *const bp_str, event_count: usize, error: *mut bp_error) -> i32>,
    pub flush: Option<unsafe extern "C" fn(this: *mut c_void, error: *mut bp_error) -> i32>,
}
pub const BP_AUDIT_TABLE: &str = "backplane.audit";
pub const BP_AUDIT_TABLE_VERSION: u32 = 1;
#[repr(C)]
pub struct bp_audit_table {
    pub struct_size: usize,
    pub add: Option<unsafe extern "C" fn(context: *mut bp_context, sink: *const bp_audit_sink, error: *mut bp_error) -> i32>,
}
