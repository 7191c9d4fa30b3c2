#!/bin/bash
# A job array: each of its jobs works on one part of the images.
#
#   sbatch slurm_array.sh photos results
#
# A job that was put back into the queue continues where it was stopped. If jobs fail or run out
# of time, submit the whole array again: what is done is left as it is.
#SBATCH --job-name=pfeseg
#SBATCH --array=1-20
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --output=pfeseg-%A_%a.log
#SBATCH --open-mode=append
set -eu
: "${2:?usage: sbatch slurm_array.sh PHOTOS RESULTS}"

# "exec", so that pfeseg itself hears when SLURM ends the job, and clears away what is half done.
exec pfeseg segment "$1" -r -o "$2" \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --jobs "$SLURM_CPUS_PER_TASK" --skip-existing
