export const votesPath = '/api/v1/votes'
