# Transaction processing: readers that compute, writers and a log writer that write to the drive, kept in step by
# semaphores. The numbers are those of filebench's own workload of this name.

set $dir=/data
set $eventrate=0
set $nfiles=10
set $filesize=10m
set $logfilesize=10m
set $nshadows=200
set $ndbwriters=10
set $iosize=2k
set $logiosize=256k
set $batch=100
set $usermode=200000
set $writermode=10000

eventgen rate=$eventrate

define fileset name=data,path=$dir,size=$filesize,entries=$nfiles,dirwidth=1024,prealloc,reuse
define fileset name=log,path=$dir,size=$logfilesize,entries=1,dirwidth=1024,prealloc,reuse

define process name=log-writer,instances=1
{
  thread name=log-writer
  {
    flowop aiowrite name=write-log,filesetname=log,iosize=$logiosize,random,dsync
    flowop aiowait name=wait-log
    flowop semblock name=block-log,value=3200,highwater=1000
  }
}

define process name=writer,instances=$ndbwriters
{
  thread name=writer
  {
    flowop aiowrite name=write-data,filesetname=data,iosize=$iosize,random,iters=$batch,opennext,dsync
    flowop hog name=hog-writer,value=$writermode
    flowop semblock name=block-data,value=1000,highwater=2000
    flowop aiowait name=wait-data
  }
}

define process name=shadow,instances=$nshadows
{
  thread name=shadow
  {
    flowop read name=read-data,filesetname=data,iosize=$iosize,random,opennext
    flowop hog name=hog-shadow,value=$usermode
    flowop sempost name=post-log,value=1,target=block-log,blocking
    flowop sempost name=post-data,value=1,target=block-data,blocking
    flowop eventlimit name=limit
  }
}

run 60
