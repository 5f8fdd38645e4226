-- The model that a deployment serves; null if its reporter does not say.
alter table deployments add column model text;
create index deployments_with_model on deployments (organisation_id, repository_id, prompt_id) where model is not null;
