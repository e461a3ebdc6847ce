"""Which of PostgreSQL's functions may run in a statement that only reads.

`DENIED` counts in any position, called or not. Of the others those that pg_proc calls VOLATILE are refused unless they
are in `HARMLESS`: they look, wait or draw random numbers. Names of functions of all versions and of the extensions in
contrib, since an unknown name costs nothing.
"""

import re
from typing import Final

_FILES: Final = (
    "pg_read_file pg_read_binary_file pg_read_file_old pg_stat_file pg_ls_dir pg_ls_logdir pg_ls_waldir pg_ls_tmpdir"
    " pg_ls_archive_statusdir pg_ls_logicalmapdir pg_ls_logicalsnapdir pg_ls_replslotdir pg_ls_summariesdir"
    " pg_logdir_ls pg_logfile_rotate pg_file_read pg_file_write pg_file_rename pg_file_unlink pg_file_sync"
    " pg_file_length pg_current_logfile pg_hba_file_rules pg_ident_file_mappings pg_show_all_file_settings"
    " pg_file_settings"
)
_LARGE_OBJECTS: Final = (
    "lo_import lo_export lo_create lo_creat lo_from_bytea lo_put lo_open lo_close lo_lseek lo_lseek64 lo_tell lo_tell64"
    " lo_truncate lo_truncate64 lo_unlink loread lowrite lo_manage"
)
_SESSIONS: Final = (
    "pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile pg_promote pg_notify set_config"
    " pg_log_backend_memory_contexts pg_log_standby_snapshot pg_stat_force_next_flush pg_export_snapshot setseed"
)
_LOCKS: Final = (
    "pg_advisory_lock pg_advisory_lock_shared pg_advisory_unlock pg_advisory_unlock_all pg_advisory_unlock_shared"
    " pg_advisory_xact_lock pg_advisory_xact_lock_shared pg_try_advisory_lock pg_try_advisory_lock_shared"
    " pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared"
)
_SQL_IN_TEXT: Final = (
    "query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml cursor_to_xmlschema ts_stat ts_rewrite"
    " table_to_xml table_to_xml_and_xmlschema schema_to_xml schema_to_xml_and_xmlschema"
    " database_to_xml database_to_xml_and_xmlschema"
    " xpath_table crosstab crosstab2 crosstab3 crosstab4 crosstabn connectby pgr_dijkstra"
)
_OTHERS: Final = (
    "nextval setval currtid2 pg_nextoid pg_import_system_collations pg_extension_config_dump pg_switch_wal"
    " pg_switch_xlog pg_prewarm autoprewarm_start_worker autoprewarm_dump_now gin_clean_pending_list"
    " suppress_redundant_updates_trigger pg_stop_making_pinned_objects pg_surgery heap_force_kill heap_force_freeze"
    " pg_truncate_visibility_map pg_sync_replication_slots get_raw_page"
)
_SECRETS: Final = (
    "pg_authid pg_shadow pg_user_mapping pg_user_mappings pg_subscription user_mapping_options _pg_user_mappings"
)
_PREFIXES: Final = (
    "dblink pg_stat_reset pg_replication_origin_ pg_replication_slot_ pg_logical_"
    " pg_create_ pg_drop_ pg_copy_ pg_backup_ pg_start_backup pg_stop_backup"
    " pg_wal_replay_pause pg_wal_replay_resume pg_xlog_replay_ pg_restore_ pg_clear_"
    " binary_upgrade_ brin_summarize_ brin_desummarize_ pg_stat_statements_reset pg_buffercache_evict"
)

_NAMES: Final = " ".join((_FILES, _LARGE_OBJECTS, _SESSIONS, _LOCKS, _SQL_IN_TEXT, _OTHERS, _SECRETS))

DENIED: Final = frozenset(_NAMES.split())
_DENIED_BEGINNING: Final = re.compile("|".join(map(re.escape, _PREFIXES.split())))

_LOOKING: Final = (
    "random random_normal array_sample array_shuffle clock_timestamp timeofday gen_random_uuid uuidv4"
    " uuidv7 uuid_generate_v1 uuid_generate_v1mc uuid_generate_v4 gen_random_bytes gen_salt pg_sleep"
    " pg_sleep_for pg_sleep_until current_query currval lastval pg_database_size pg_indexes_size"
    " pg_relation_size pg_table_size pg_tablespace_size pg_total_relation_size pg_partition_ancestors"
    " pg_partition_tree pg_blocking_pids pg_safe_snapshot_blocking_pids pg_lock_status pg_is_in_recovery"
    " pg_is_wal_replay_paused pg_get_wal_replay_pause_state pg_current_wal_flush_lsn"
    " pg_current_wal_insert_lsn pg_current_wal_lsn pg_last_wal_receive_lsn pg_last_wal_replay_lsn"
    " pg_last_xact_replay_timestamp pg_last_committed_xact pg_sequence_last_value pg_get_sequence_data"
    " pg_collation_actual_version pg_database_collation_actual_version pg_control_checkpoint"
    " pg_control_init pg_control_recovery pg_control_system pg_get_multixact_members pg_get_wait_events"
    " pg_jit_available pg_notification_queue_usage pg_prepared_xact pg_show_replication_origin_status"
    " pg_stat_clear_snapshot pg_stat_have_stats pg_xact_commit_timestamp pg_xact_commit_timestamp_origin"
    " pg_xact_status txid_status pg_available_wal_summaries pg_wal_summary_contents"
    " pg_get_wal_summarizer_state pg_get_wal_resource_managers pg_get_aios pg_get_backend_memory_contexts"
    " pg_get_loaded_modules pg_get_shmem_allocations pg_get_shmem_allocations_numa bernoulli system"
    " system_rows system_time lo_get pg_stat_statements pg_stat_statements_info pg_buffercache_pages"
    " pg_buffercache_summary pg_freespace pgstattuple pgstattuple_approx pgstatindex pg_visibility"
    " pg_visibility_map hypopg"
)

HARMLESS: Final = frozenset(_LOOKING.split())
_HARMLESS_BEGINNING: Final = re.compile("pg_stat_get_")


def is_denied(name: str) -> bool:
    """Whether a name must not stand anywhere in a statement that reads."""
    return name in DENIED or _DENIED_BEGINNING.match(name) is not None


def is_harmless(name: str) -> bool:
    """Whether a VOLATILE function only looks, waits or draws random numbers."""
    return name in HARMLESS or _HARMLESS_BEGINNING.match(name) is not None
