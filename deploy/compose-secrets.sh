#!/bin/sh
# Creates the secrets that compose.yaml gives to the service and to PostgreSQL, and keeps those that exist.
set -eu
umask 077
cd "$(dirname "$0")/.."
mkdir -p secrets
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
[ -e secrets/postgres_password ] || random > secrets/postgres_password
[ -e secrets/secret_key ] || random > secrets/secret_key
printf 'postgres://promptledger:%s@postgres/promptledger' "$(cat secrets/postgres_password)" > secrets/database_url
# The processes in the containers run as other users than the one who starts them. The folder keeps other users out.
chmod 644 secrets/*
